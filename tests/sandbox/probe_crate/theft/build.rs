//! Thefts by the C compiler and by the linker. What does not compile is left out; the programs are linked without it.

use std::path::Path;
use std::process::{Command, Stdio};

fn main() {
    let out = std::env::var("OUT_DIR").expect("set by cargo");
    let object = |name: &str, compiler: &str, source: &str| {
        let (from, to) = (format!("{out}/{name}.c"), format!("{out}/{name}.o"));
        std::fs::write(&from, source).expect("OUT_DIR");
        let done = Command::new(compiler).args(["-c", &from, "-o", &to]).stderr(Stdio::null()).status();
        if done.is_ok_and(|status| status.success()) {
            println!("cargo:rustc-link-arg-bin={name}={to}");
        }
    };
    object("c_include", "cc", "#include \"@HOME@/.ssh/secret.h\"\n");
    object("c_incbin", "cc", "__asm__(\".data\\n.incbin \\\"@HOME@/.ssh/id_rsa\\\"\\n\");\n");
    // Of the language since C23.
    object("c_embed", "clang-19", "const unsigned char kept[] = {\n#embed \"@HOME@/.ssh/id_rsa\"\n};\n");
    for name in ["c_include", "c_incbin", "c_embed", "linker_binary"] {
        println!("cargo:rustc-link-arg-bin={name}=-Wl,--no-gc-sections");
    }
    println!("cargo:rustc-link-arg-bin=linker_binary=-Wl,--format=binary,@HOME@/.ssh/id_rsa,--format=default");
    let script = Path::new(&out).join("include.ld");
    std::fs::write(&script, "INCLUDE @HOME@/.ssh/secret.ld\n").expect("OUT_DIR");
    println!("cargo:rustc-link-arg-bin=linker_script={}", script.display());
}
