fn main() {
    println!("{:?}", option_env!("PROBE_SECRET_TOKEN"));
}
