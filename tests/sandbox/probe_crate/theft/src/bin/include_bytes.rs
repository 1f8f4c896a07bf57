static STOLEN: &[u8] = include_bytes!("@HOME@/.ssh/id_rsa");

fn main() {
    println!("{:?}", STOLEN);
}
