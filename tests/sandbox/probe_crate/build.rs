//! The acts, tried by a build script.

mod acts;

fn main() {
    acts::run("build", std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo").as_ref());
}
