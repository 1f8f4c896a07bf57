// A build script that looks around and tells the program what it found.
fn main() {
    let home = std::env::var("HOME").unwrap_or_default();
    let keys = std::fs::read_dir(format!("{home}/.ssh")).is_ok();
    let network = std::net::TcpStream::connect("192.0.2.1:80");
    let reached = !matches!(network, Err(ref e) if e.raw_os_error() == Some(101));
    println!("cargo:rustc-env=KEYS={keys}");
    println!("cargo:rustc-env=NETWORK={reached}");
}
