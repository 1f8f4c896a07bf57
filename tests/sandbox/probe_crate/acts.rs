//! What a hostile build tries. A line of `acts.txt` is a number, an act and its operands, divided by
//! tabs; `{who}`, `{out}` and `{temp}` in an operand become the part of the build that tries it, its
//! OUT_DIR and its temporary directory. An act whose operand is `@NAME` first is tried by that part alone.
//! A verdict is a JSON line: 0 if the act worked, else the errno.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{Error, Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::raw::{c_char, c_int, c_long, c_void};
use std::os::unix::fs::{symlink, DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn openat(directory: c_int, name: *const c_char, flags: c_int, ...) -> c_int;
    fn mkdirat(directory: c_int, name: *const c_char, mode: u32) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn truncate(path: *const c_char, size: i64) -> c_int;
    fn setxattr(path: *const c_char, name: *const c_char, value: *const c_void, size: usize, flags: c_int) -> c_int;
    fn utimensat(directory: c_int, path: *const c_char, times: *const c_void, flags: c_int) -> c_int;
    fn shmget(key: c_int, size: usize, flags: c_int) -> c_int;
    fn msgget(key: c_int, flags: c_int) -> c_int;
    fn ptrace(request: c_int, ...) -> c_long;
    fn process_vm_readv(process: c_int, local: *const Part, locals: u64, remote: *const Part, remotes: u64, flags: u64) -> isize;
    fn fork() -> c_int;
    fn setsid() -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
    fn prctl(option: c_int, ...) -> c_int;
    fn sigfillset(set: *mut u8) -> c_int;
    fn sigprocmask(how: c_int, set: *const u8, old: *mut u8) -> c_int;
}

#[repr(C)]
struct Part {
    base: *const c_void,
    size: usize,
}

const HERE: c_int = -100; // AT_FDCWD
const WRITE: c_int = 1; // O_WRONLY

#[cfg(target_arch = "x86_64")]
const KCMP: c_long = 312;
#[cfg(target_arch = "x86_64")]
const KEYCTL: c_long = 250;
#[cfg(not(target_arch = "x86_64"))]
const KCMP: c_long = 272;
#[cfg(not(target_arch = "x86_64"))]
const KEYCTL: c_long = 219;

/// What an act found out, if there is more to say than that it worked.
type Verdict = Result<String, Error>;

fn text(path: &str) -> CString {
    CString::new(path).expect("no NUL in a list of lines")
}
fn checked(result: i64) -> Verdict {
    if result < 0 { Err(Error::last_os_error()) } else { Ok(String::new()) }
}
fn silent<T>(result: Result<T, Error>) -> Verdict {
    result.map(|_| String::new())
}

/// Tries something in a process of its own.
fn apart(attempt: impl Fn() -> i64) -> Verdict {
    unsafe {
        let child = fork();
        if child == 0 {
            _exit(if attempt() < 0 { Error::last_os_error().raw_os_error().unwrap_or(255) } else { 0 });
        }
        let mut status = 0;
        waitpid(child, &mut status, 0);
        match (status >> 8) & 255 {
            0 => Ok(String::new()),
            error => Err(Error::from_raw_os_error(error)),
        }
    }
}

/// The environment of this process, as its language and as the kernel know it, and of a process that it starts.
fn environment() -> Verdict {
    let mut all = Vec::new();
    for (name, value) in std::env::vars_os() {
        all.extend_from_slice(name.as_encoded_bytes());
        all.push(b'=');
        all.extend_from_slice(value.as_encoded_bytes());
        all.push(b'\n');
    }
    let mut own = Vec::new();
    File::open("/proc/self/environ")?.read_to_end(&mut own)?;
    all.extend(own.iter().map(|byte| if *byte == 0 { b'\n' } else { *byte }));
    let child = Command::new("/bin/cat").arg("/proc/self/environ").stderr(Stdio::null()).output()?;
    all.extend(child.stdout.iter().map(|byte| if *byte == 0 { b'\n' } else { *byte }));
    Ok(String::from_utf8_lossy(&all).into_owned())
}

/// What the descriptors of a process that this one starts stand for.
fn descriptors() -> Verdict {
    let mut all = String::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let path = entry?.path();
        if let Ok(target) = fs::read_link(&path) {
            all += &format!("{} {}\n", path.file_name().unwrap_or_default().to_string_lossy(), target.display());
        }
    }
    Ok(all)
}

/// A process that stays: a session of its own, an orphan, a subreaper, every signal blocked.
fn survive(seconds: &str) -> Verdict {
    let mut command = Command::new("setsid");
    command.args(["--fork", "sleep", seconds]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    unsafe {
        command.pre_exec(|| {
            let mut all = [0u8; 128];
            sigfillset(all.as_mut_ptr());
            sigprocmask(2, all.as_ptr(), std::ptr::null_mut());
            prctl(36, 1, 0, 0, 0); // PR_SET_CHILD_SUBREAPER
            Ok(())
        });
    }
    silent(command.status())
}

/// A process that is another one whenever it is looked at: it forks and ends, over and over, for a minute at most.
fn hop() -> Verdict {
    unsafe {
        if fork() != 0 {
            return Ok(String::new());
        }
        setsid();
        for fd in 0..1024 {
            close(fd);
        }
        let begin = std::time::Instant::now();
        while begin.elapsed().as_secs() < 60 {
            if fork() != 0 {
                _exit(0);
            }
        }
        _exit(0);
    }
}

/// A chain of directories, each in the one before.
fn deep(path: &str, depth: usize) -> Verdict {
    let name = text("d");
    unsafe {
        let mut above = openat(HERE, text(path).as_ptr(), 0o200000);
        for _ in 0..depth {
            if above < 0 || mkdirat(above, name.as_ptr(), 0o755) != 0 {
                return Err(Error::last_os_error());
            }
            let beneath = openat(above, name.as_ptr(), 0o200000);
            close(above);
            above = beneath;
        }
        close(above);
    }
    Ok(String::new())
}

/// Names and modes that whoever cleans up has to bear, and a link out.
fn odd(path: &str, target: &str) -> Verdict {
    let top = Path::new(path);
    fs::create_dir_all(top)?;
    symlink(target, top.join("x"))?;
    fs::write(top.join("a\nb"), "")?;
    fs::write(top.join("-rf"), "")?;
    fs::DirBuilder::new().mode(0o755).create(top.join("shut"))?;
    fs::write(top.join("shut/file"), "")?;
    symlink(target, top.join("shut/x"))?;
    fs::set_permissions(top.join("shut"), fs::Permissions::from_mode(0))?;
    Ok(String::new())
}

fn perform(act: &str, o: &[String]) -> Verdict {
    let number = |at: usize| o[at].parse::<i64>().expect("a number");
    match act {
        "read" => {
            let mut byte = [0];
            silent(File::open(&o[0])?.read(&mut byte))
        }
        "list" => silent(fs::read_dir(&o[0])),
        "look" => silent(fs::symlink_metadata(&o[0])),
        "mode" => fs::metadata(&o[0]).map(|status| format!("{:o} {}", status.mode() & 0o7777, status.uid())),
        "create" => silent(OpenOptions::new().write(true).create_new(true).open(&o[0])),
        "append" => OpenOptions::new().append(true).open(&o[0])?.write_all(b"#").map(|_| String::new()),
        "open-write" => silent(OpenOptions::new().write(true).open(&o[0])),
        "truncate" => checked(unsafe { truncate(text(&o[0]).as_ptr(), 1) } as i64),
        "unlink" => silent(fs::remove_file(&o[0])),
        "rename" => silent(fs::rename(&o[0], &o[1])),
        "link" => silent(fs::hard_link(&o[0], &o[1])),
        "symlink" => silent(symlink(&o[0], &o[1])),
        "mkdir" => silent(fs::create_dir(&o[0])),
        "chmod" => silent(fs::set_permissions(&o[0], fs::Permissions::from_mode(0o755))),
        "utime" => checked(unsafe { utimensat(HERE, text(&o[0]).as_ptr(), std::ptr::null(), 0) } as i64),
        "setxattr" => checked(unsafe {
            setxattr(text(&o[0]).as_ptr(), text("user.probe").as_ptr(), b"x".as_ptr().cast(), 1, 0)
        } as i64),
        "openat" => unsafe {
            let fd = openat(number(0) as c_int, text(&o[1]).as_ptr(), WRITE);
            let verdict = checked(fd as i64);
            close(fd);
            verdict
        },
        "unix" => silent(UnixStream::connect(&o[0])),
        "abstract" => silent(UnixStream::connect_addr(&SocketAddr::from_abstract_name(&o[0])?)),
        "tcp" => silent(TcpStream::connect((o[0].as_str(), number(1) as u16))),
        "ptrace" => apart(|| unsafe { ptrace(0x4206, number(0), 0, 0) as i64 }),
        "vm-read" => apart(|| unsafe {
            // Which address is not the question: a process that may read gets as far as EFAULT.
            let mut byte = 0u8;
            let local = Part { base: (&mut byte as *mut u8).cast(), size: 1 };
            let remote = Part { base: 16 as *const c_void, size: 1 };
            let got = process_vm_readv(number(0) as c_int, &local, 1, &remote, 1, 0);
            if got < 0 && Error::last_os_error().raw_os_error() == Some(14) { 0 } else { got as i64 }
        }),
        "kcmp" => checked(unsafe { syscall(KCMP, std::process::id() as c_long, number(0), 0, 0, 0) }),
        "take-descriptor" => apart(|| unsafe {
            let process = syscall(434, number(0), 0);
            if process < 0 { -1 } else { syscall(438, process, 0, 0) }
        }),
        "shared-memory" => checked(unsafe { shmget(number(0) as c_int, 0, 0) } as i64),
        "queue" => checked(unsafe { msgget(number(0) as c_int, 0) } as i64),
        "keyring" => checked(unsafe { syscall(KEYCTL, 0, -3, 0) }),
        "environment" => environment(),
        "descriptors" => descriptors(),
        "survive" => survive(&o[0]),
        "hop" => hop(),
        "deep" => deep(&o[0], number(1) as usize),
        "odd" => odd(&o[0], &o[1]),
        _ => panic!("no such act: {act}"),
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            c if (c as u32) < 32 => json += &format!("\\u{:04x}", c as u32),
            c => json.push(c),
        }
    }
    json + "\""
}

pub fn run(who: &str, package: &Path) {
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let temp = std::env::temp_dir().to_string_lossy().into_owned();
    let list = fs::read_to_string(package.join("acts.txt")).expect("acts.txt");
    let mut report =
        OpenOptions::new().create(true).append(true).open(package.join("target/verdicts.jsonl")).expect("verdicts");
    for line in list.lines() {
        let mut words = line.split('\t').map(|word| {
            word.replace("{who}", who).replace("{out}", &out).replace("{temp}", &temp)
        });
        let (Some(id), Some(act)) = (words.next(), words.next()) else { continue };
        let mut operands: Vec<String> = words.collect();
        if let Some(only) = operands.first().and_then(|word| word.strip_prefix('@')) {
            if only != who {
                continue;
            }
            operands.remove(0);
        }
        let (result, said) = match perform(&act, &operands) {
            Ok(said) => (0, said),
            Err(error) => (error.raw_os_error().unwrap_or(-1), String::new()),
        };
        let line = format!("{{\"id\":{id},\"who\":{},\"result\":{result},\"text\":{}}}\n", quoted(who), quoted(&said));
        report.write_all(line.as_bytes()).expect("verdicts");
    }
}
