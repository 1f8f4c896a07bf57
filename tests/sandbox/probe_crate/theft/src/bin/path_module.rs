#[path = "@HOME@/.ssh/secret.rs"]
mod stolen;

fn main() {
    println!("{}", stolen::TOKEN);
}
