static STOLEN: &str = include_str!("/proc/self/environ");

fn main() {
    println!("{}", STOLEN);
}
