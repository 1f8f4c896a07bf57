/// The answer.
pub fn answer() -> u32 {
    42
}

#[test]
fn answers() {
    assert_eq!(answer(), 42);
}
