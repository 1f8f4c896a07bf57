std::arch::global_asm!(".data", ".globl stolen", "stolen:", ".incbin \"@HOME@/.ssh/id_rsa\"", ".text");

extern "C" {
    static stolen: u8;
}

fn main() {
    println!("{:p}", &raw const stolen);
}
