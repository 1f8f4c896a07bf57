fn main() {
    println!("hello from a crate");
}
