//! Keys that leave packets as they are: a packet has the bytes of the authentication tag, and
//! nothing is encrypted. Sizes and limits are those of AEAD_AES_128_GCM (RFC 9001 sections 5 and
//! 6.6).

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, CryptoError, HandshakeTokenKey, HeaderKey, HmacKey, KeyPair, Keys, PacketKey,
};

/// Bytes of an authentication tag, and of a sample for header protection.
const TAG_BYTES: usize = 16;
/// Packets that one key may protect, and forged packets that it may meet.
const CONFIDENTIALITY_LIMIT: u64 = 1 << 23;
const INTEGRITY_LIMIT: u64 = 1 << 52;
/// Bytes of a signature.
const SIGNATURE_BYTES: usize = 32;

/// A key that leaves packets as they are.
#[derive(Clone, Copy, Debug)]
pub struct PlainKey;

/// Keys of one packet number space.
pub fn plain_keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(PlainKey), remote: Box::new(PlainKey) },
        packet: plain_packet_keys(),
    }
}

/// Packet keys of both directions.
pub fn plain_packet_keys() -> KeyPair<Box<dyn PacketKey>> {
    KeyPair { local: Box::new(PlainKey), remote: Box::new(PlainKey) }
}

impl PacketKey for PlainKey {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG_BYTES
    }

    fn confidentiality_limit(&self) -> u64 {
        CONFIDENTIALITY_LIMIT
    }

    fn integrity_limit(&self) -> u64 {
        INTEGRITY_LIMIT
    }
}

impl HeaderKey for PlainKey {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG_BYTES
    }
}

/// Signs with a checksum (FNV-1a), which differs where connection identifiers do.
impl HmacKey for PlainKey {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        let mut hash = data.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        for byte in signature {
            hash = (hash ^ 0x9d).wrapping_mul(0x0100_0000_01b3);
            *byte = (hash >> 32) as u8;
        }
    }

    fn signature_len(&self) -> usize {
        SIGNATURE_BYTES
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = [0; SIGNATURE_BYTES];
        self.sign(data, &mut expected);
        if signature == expected { Ok(()) } else { Err(CryptoError) }
    }
}

impl HandshakeTokenKey for PlainKey {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Self)
    }
}

impl AeadKey for PlainKey {
    fn seal(&self, data: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        data.extend([0; TAG_BYTES]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let length = data.len().checked_sub(TAG_BYTES).ok_or(CryptoError)?;
        Ok(&mut data[..length])
    }
}
