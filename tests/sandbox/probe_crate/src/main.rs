probe_macro::probe!();

fn main() {
    println!("built");
}
