fn answer() -> u32 {
    tool_dep::answer() + 1
}

fn main() {
    println!("{}", answer());
}

#[test]
fn answers() {
    assert_eq!(answer(), 42);
}
