// What a build script has no business to do, and one thing that it has: compiling C.
use std::{env, fs, net, path::PathBuf, process};

fn verdict<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> String {
    match result {
        Ok(_) => format!("{} done\n", what),
        Err(error) => format!("{} refused: {}\n", what, error),
    }
}

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let port = fs::read_to_string("port").unwrap();
    let secret = fs::read_to_string("secret").unwrap();
    let mut text = verdict("connect", net::TcpStream::connect(format!("127.0.0.1:{}", port.trim())));
    text += &verdict("write", fs::write("src/gen.rs", "// made\n"));
    text += &verdict("read", fs::read(secret.trim()));
    text += &verdict("environment", env::var("SECRET_TOKEN"));
    fs::write(out.join("c.c"), "int answer(void) { return 42; }\n").unwrap();
    let compiled = process::Command::new("cc").current_dir(&out).args(&["-c", "c.c"]).status();
    text += &format!("cc {}\n", compiled.map(|status| status.success()).unwrap_or(false));
    fs::write(out.join("../../../../nosy.txt"), text).unwrap();
}
