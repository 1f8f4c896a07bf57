fn main() {
    println!("its build script read keys: {}, reached the network: {}", env!("KEYS"), env!("NETWORK"));
}
