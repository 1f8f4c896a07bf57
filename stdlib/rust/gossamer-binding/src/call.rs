//! The way in and out: what every exported function runs in, and the memory it answers in.

use crate::handles::Call;
use crate::wire::{Failure, Reader, Writer};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

/// Bytes that Rust owns until `gossamer_binding_free_1` gets them back.
#[repr(C)]
pub struct GosBuffer {
    data: *mut u8,
    length: usize,
    capacity: usize,
}

impl GosBuffer {
    fn of(bytes: Vec<u8>) -> Self {
        let mut bytes = ManuallyDrop::new(bytes);
        GosBuffer { data: bytes.as_mut_ptr(), length: bytes.len(), capacity: bytes.capacity() }
    }
}

/// The result is in the buffer.
pub const ANSWERED: u32 = 0;
/// A panic, or a handle that cannot be served; the buffer holds the message.
pub const PANICKED: u32 = 1;
/// The arguments are not what the signature says; the buffer holds what is wrong with them.
pub const MALFORMED: u32 = 2;

/// That the library speaks version 1 of the interface: the number is in the name.
#[no_mangle]
pub extern "C" fn gossamer_binding_abi_1() -> u32 {
    1
}

/// Takes back a buffer that a call filled, and empties it, so that once more does nothing.
///
/// # Safety
/// The buffer is null, all zeros, or as a call left it.
#[no_mangle]
pub unsafe extern "C" fn gossamer_binding_free_1(buffer: *mut GosBuffer) {
    if buffer.is_null() {
        return;
    }
    let taken = std::ptr::replace(buffer, GosBuffer { data: std::ptr::null_mut(), length: 0, capacity: 0 });
    if !taken.data.is_null() {
        drop(Vec::from_raw_parts(taken.data, taken.length, taken.capacity));
    }
}

/// What the macro writes for a function: reads the arguments, calls it, writes the answer.
pub type Body = fn(&mut Reader, &mut Call, &mut Writer) -> Result<(), Failure>;

/// Runs a body; nothing unwinds out of here.
///
/// # Safety
/// `arguments` are `length` readable bytes, `out` is writable.
pub unsafe fn enter(arguments: *const u8, length: usize, out: *mut GosBuffer, body: Body) -> u32 {
    // A slice is never null, not even an empty one.
    let arguments: &[u8] = if length == 0 { &[] } else { std::slice::from_raw_parts(arguments, length) };
    let (status, bytes) = run(arguments, body);
    out.write(GosBuffer::of(bytes));
    status
}

fn run(arguments: &[u8], body: Body) -> (u32, Vec<u8>) {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(hook);
    let outer = INSIDE.with(|inside| inside.replace(true));
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut reader = Reader::new(arguments);
        let mut writer = Writer::default();
        // Its values are let go before the answer is given, and a panic of their end is caught as well.
        let mut call = Call::default();
        body(&mut reader, &mut call, &mut writer).map(|()| writer.into_bytes())
    }));
    let answer = match ended {
        Ok(Ok(bytes)) => (ANSWERED, bytes),
        Ok(Err(Failure::Malformed(what))) => (MALFORMED, what.as_bytes().to_vec()),
        Ok(Err(Failure::Refused(message))) => (PANICKED, message.into_bytes()),
        Err(payload) => (PANICKED, message_of(payload).into_bytes()),
    };
    INSIDE.with(|inside| inside.set(outer));
    answer
}

/// Runs code of the user's whose panic nobody is to hear of: the end of a value.
pub(crate) fn quietly(act: impl FnOnce()) {
    let outer = INSIDE.try_with(|inside| inside.replace(true)).unwrap_or(true);
    if let Err(payload) = catch_unwind(AssertUnwindSafe(act)) {
        std::mem::forget(payload); // its end might panic as well
    }
    let _ = INSIDE.try_with(|inside| inside.set(outer));
}

thread_local! {
    /// Is this thread inside of a call?
    static INSIDE: Cell<bool> = Cell::new(false);
    /// What the last panic of this thread said, and where.
    static LAST: RefCell<Option<String>> = RefCell::new(None);
}

/// A panic inside of a call is told to Gossamer and not printed; any other is as it was, on a thread of the crate's own
/// among them.
fn hook() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let inside = INSIDE.try_with(|inside| inside.get()).unwrap_or(false);
        if !inside {
            return before(info);
        }
        let mut message = text_of(info.payload()).to_owned();
        if let Some(place) = info.location() {
            message.push_str(&format!(" ({}:{})", place.file(), place.line()));
        }
        let _ = LAST.try_with(|last| *last.borrow_mut() = Some(message));
    }));
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "a panic without a message"
    }
}

fn message_of(payload: Box<dyn Any + Send>) -> String {
    let told = LAST.try_with(|last| last.borrow_mut().take()).unwrap_or(None);
    // A hook of the crate's own, or `resume_unwind`: the payload is all there is. A message of an earlier panic, which
    // the function caught itself, does not begin with it.
    let text = text_of(&*payload).to_owned();
    let message = match told {
        Some(told) if told.starts_with(&text) => told,
        _ => text,
    };
    quietly(move || drop(payload));
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Decode, Encode};

    fn call(arguments: &[u8], body: Body) -> (u32, String) {
        let mut out = GosBuffer { data: std::ptr::null_mut(), length: 0, capacity: 0 };
        unsafe {
            let status = enter(arguments.as_ptr(), arguments.len(), &mut out, body);
            let bytes = std::slice::from_raw_parts(out.data, out.length).to_vec();
            gossamer_binding_free_1(&mut out);
            gossamer_binding_free_1(&mut out);
            (status, String::from_utf8_lossy(&bytes).into_owned())
        }
    }

    #[test]
    fn a_panic_is_an_answer_with_its_message_and_place() {
        let (status, message) = call(&[], |_, _, _| panic!("no {}", 7));
        assert_eq!(status, PANICKED);
        assert!(message.starts_with("no 7 (") && message.contains("call.rs:"), "{}", message);
        let (status, message) = call(&[], |_, _, _| std::panic::resume_unwind(Box::new(7)));
        assert_eq!((status, &*message), (PANICKED, "a panic without a message"));
        let (status, message) = call(&[], |_, _, _| std::panic::panic_any(7));
        assert_eq!(status, PANICKED);
        assert!(message.starts_with("a panic without a message ("), "{}", message);
    }

    #[test]
    fn a_caught_panic_leaves_no_message_behind() {
        let (status, message) = call(&[], |_, _, _| {
            let _ = catch_unwind(|| panic!("first"));
            std::panic::resume_unwind(Box::new("second"))
        });
        assert_eq!((status, &*message), (PANICKED, "second"));
    }

    #[test]
    fn a_payload_whose_drop_panics_does_not_get_out() {
        struct Bomb;
        impl Drop for Bomb {
            fn drop(&mut self) {
                panic!("again");
            }
        }
        let (status, _) = call(&[], |_, _, _| std::panic::panic_any(Bomb));
        assert_eq!(status, PANICKED);
    }

    #[test]
    fn arguments_that_are_too_short_are_said_to_be() {
        fn body(from: &mut Reader, _: &mut Call, out: &mut Writer) -> Result<(), Failure> {
            let value = i64::decode(from)?;
            from.end()?;
            (value + 1).encode(out);
            Ok(())
        }
        assert_eq!(call(&[1, 2], body), (MALFORMED, "the arguments end too early".to_owned()));
        assert_eq!(call(&[0; 9], body).0, MALFORMED);
        assert_eq!(call(&[0; 8], body), (ANSWERED, "\u{1}\0\0\0\0\0\0\0".to_owned()));
    }
}
