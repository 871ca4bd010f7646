#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lang::survive(bytes));

#[path = "../../crates/askloom-lang/tests/lang/survive.rs"]
mod lang;
