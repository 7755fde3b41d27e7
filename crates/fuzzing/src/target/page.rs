//! Images of any content, and sealed pages with one alteration, in every suite.

use std::sync::Arc;

use selenite_cipher::{
    DataKey, DatabaseId, Epoch, PageCipher, PageKeys, PageKeysParts, PageNo, PageNonce, Scan, Secret, SessionId, Suite,
};

const SIZE: usize = 1024;

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let Some((head, content)) = data.split_first_chunk::<8>() else {
        return;
    };
    let suite = Suite::ALL[usize::from(head[0]) % Suite::ALL.len()];
    let number = PageNo(u32::from_be_bytes([head[1] & 1, head[2], head[3], head[4]]).max(2));
    let mut cipher = cipher(suite);

    // Whatever the bytes are, no one sealed them.
    let mut image = content.to_vec();
    image.resize(SIZE, 0);
    refuse(&mut cipher, number, &image);
    // As far as epoch and session go, so that the tag is what refuses it.
    image[SIZE - 48..SIZE - 44].copy_from_slice(&1_u32.to_be_bytes());
    refuse(&mut cipher, number, &image);

    let mut plain = content.to_vec();
    plain.resize(SIZE, 0);
    plain[SIZE - 48..].fill(0);
    let nonce = PageNonce {
        session: SessionId([head[5]; 16]),
        salt: [head[6]; 8],
        counter: u32::from(head[7]),
    };
    cipher
        .seal(number, nonce, &plain, &mut image)
        .expect("a page of the right size, with nothing in its last 48 bytes");
    let mut out = vec![0xa5; SIZE];
    assert_eq!(cipher.open(number, &image, &mut out), Ok(()));
    assert_eq!(out, plain);
    refuse(&mut cipher, PageNo(number.0 ^ 1), &image);
    let at = usize::from(u16::from_be_bytes([head[2], head[3]])) % SIZE;
    image[at] ^= head[4] | 1;
    refuse(&mut cipher, number, &image);
}

fn refuse(cipher: &mut PageCipher, number: PageNo, image: &[u8]) {
    let mut out = vec![0xa5; SIZE];
    assert!(
        cipher.open(number, image, &mut out).is_err(),
        "an image opens that was not sealed"
    );
    assert!(out.iter().all(|&byte| byte == 0), "a refused page was released");
}

fn cipher(suite: Suite) -> PageCipher {
    let database_id = DatabaseId([0x1d; 16]);
    let keys = PageKeys::new(PageKeysParts {
        database_id,
        page_size: SIZE,
        scan: Scan::Steady,
        epoch_max: Epoch(1),
        sealing_epoch: Epoch(1),
        data_keys: vec![DataKey::new(Secret::new([0x6b; 32]), database_id, Epoch(1), suite)],
        allow_plain: true,
        allow_deprecated: true,
    });
    PageCipher::new(Arc::new(keys.expect("good settings")))
}
