use super::*;

const TABLE: &str = "
 7: 0000000000000000     0 FILE    LOCAL  DEFAULT  ABS sqlite3.c
 8: 0000000000012340    10 FUNC    LOCAL  DEFAULT   14 walFindFrame
 9: 0000000000000000     0 FILE    LOCAL  DEFAULT  ABS bcm.c
10: 0000000000012350    10 FUNC    LOCAL  DEFAULT   14 gcm_ghash_clmul
11: 0000000000000000     0 FILE    LOCAL  DEFAULT  ABS selenite_vfs.8bf36996b727c98d-cgu.05
12: 0000000000012360    10 FUNC    LOCAL  DEFAULT   14 _ZN4core5slice4sort17h0123456789abcdefE
13: 0000000000012370    10 FUNC    LOCAL  DEFAULT   14 _ZN4sha26sha25617h0123456789abcdefE
14: 0000000000012380    10 FUNC    GLOBAL DEFAULT   14 stranger";

fn frame(address: u64, symbol: &str, object: &str) -> StackFrame {
    StackFrame {
        address,
        symbol: symbol.to_owned(),
        object: object.to_owned(),
    }
}

fn class(frames: &[(u64, &str, &str)]) -> Class {
    let frames: Vec<StackFrame> = frames
        .iter()
        .map(|(at, name, object)| frame(*at, name, object))
        .collect();
    Classes::parse("/x/budget", TABLE).class(&frames)
}

#[test]
fn a_function_of_the_executable_is_of_its_file_or_crate() {
    let of = |symbol| class(&[(1, symbol, "/x/budget")]);
    assert_eq!(of("walFindFrame"), Class::Sqlite);
    assert_eq!(of("sqlite3_step"), Class::Sqlite);
    assert_eq!(of("gcm_ghash_clmul"), Class::Cipher);
    assert_eq!(of("aws_lc_0_39_0_aes_gcm_dec_update_vaes_avx512"), Class::Cipher);
    assert_eq!(of("_ZN4core5slice4sort17h0123456789abcdefE"), Class::Own);
    assert_eq!(of("_ZN4sha26sha25617h0123456789abcdefE"), Class::Cipher);
    assert_eq!(
        of(
            "_ZN73_$LT$selenite_vfs..main_file..MainFile$u20$as$u20$selenite_vfs..ffi..File$GT$4read17h0123456789abcdefE"
        ),
        Class::Own
    );
    assert_eq!(of("_ZN8rusqlite9statement4step17h0123456789abcdefE"), Class::Caller);
    assert_eq!(of("_RNvXs_NtCsgEmfK2I1SDS_4core3fmt3fmt"), Class::Library);
    assert_eq!(of("stranger"), Class::Unknown);
    assert_eq!(class(&[(1, "qsort", "/lib/libother.so")]), Class::Unknown);
    assert_eq!(class(&[]), Class::Unknown);
}

#[test]
fn in_the_kernel_the_call_decides_but_for_the_copying() {
    let kernel = |symbols: &[&str], caller: &str| {
        let mut frames: Vec<(u64, &str, &str)> = symbols.iter().map(|name| (1 << 63, *name, "[kernel]")).collect();
        frames.push((1, caller, "/lib/libc.so.6"));
        class(&frames)
    };
    assert_eq!(
        kernel(&["rep_movs_alternative", "__x64_sys_pread64"], "x"),
        Class::KernelCopy
    );
    assert_eq!(kernel(&["filemap_read", "__x64_sys_pread64"], "x"), Class::KernelRead);
    assert_eq!(kernel(&["do_syscall_64"], "__libc_pread64"), Class::KernelRead);
    assert_eq!(kernel(&["posix_lock_inode", "__x64_sys_fcntl"], "x"), Class::KernelLock);
    assert_eq!(
        kernel(&["clear_page", "asm_exc_page_fault", "__x64_sys_pread64"], "x"),
        Class::KernelMemory
    );
    assert_eq!(
        kernel(&["__do_softirq", "asm_sysvec_apic_timer_interrupt"], "x"),
        Class::KernelOther
    );
    assert_eq!(kernel(&["do_syscall_64"], "something"), Class::KernelOther);
}

#[test]
fn the_c_library_copies_calls_or_does_something_else() {
    let of = |symbol| class(&[(1, symbol, "/lib/x86_64-linux-gnu/libc.so.6")]);
    assert_eq!(of("__memmove_avx_unaligned_erms"), Class::Copy);
    assert_eq!(of("__GI___libc_pwrite64"), Class::KernelWrite);
    assert_eq!(of("__libc_pread64"), Class::KernelRead);
    assert_eq!(of("_int_malloc"), Class::Library);
}

#[test]
fn names_are_readable_without_their_hash() {
    assert_eq!(
        readable("_ZN12selenite_vfs9main_file4read17h0123456789abcdefE"),
        "selenite_vfs::main_file::read"
    );
    assert_eq!(readable("walFindFrame"), "walFindFrame");
}
