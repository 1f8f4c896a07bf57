//! The acts, tried by a linker: it tries them once, when the package itself is linked, and links.
//! The case compiles it and names it in the package's configuration.

mod acts;

use std::os::unix::process::CommandExt;

fn main() {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    let output = words.iter().skip_while(|word| *word != "-o").nth(1);
    let name = output.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    if name.contains("deps/probe-") && !name.contains("build_script") {
        let program = std::env::current_exe().expect("of this process");
        acts::run("linker", program.parent().expect("the package"));
    }
    let error = std::process::Command::new("cc").args(words).exec();
    panic!("cc: {error}");
}
