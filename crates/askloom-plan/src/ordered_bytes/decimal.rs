//! Decimals as bytes in order: the sign; then, for 0.d₁d₂… × 10ᵉ, the exponent and the digits. A negative one is the
//! positive one with every byte inverted, so that larger magnitudes come first.

use super::DecodeError;
use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};

const NEGATIVE: u8 = 0x00;
const ZERO: u8 = 0x01;
const POSITIVE: u8 = 0x02;
/// Digits are written as 1 to 10, so that nothing is smaller than the end.
const END: u8 = 0x00;
const BIAS: i64 = 0x8000;

pub(super) fn encode(value: &BigDecimal, out: &mut Vec<u8>) {
    let (digits, scale) = value.normalized().into_bigint_and_exponent();
    if digits.sign() == Sign::NoSign {
        return out.push(ZERO);
    }
    let text = digits.magnitude().to_string();
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let exponent = u16::try_from(length - scale + BIAS).unwrap_or(0);
    let mut body = Vec::with_capacity(text.len() + 3);
    body.extend(exponent.to_be_bytes());
    body.extend(text.bytes().map(|digit| digit - b'0' + 1));
    body.push(END);
    if digits.sign() == Sign::Minus {
        out.push(NEGATIVE);
        out.extend(body.into_iter().map(|byte| !byte));
    } else {
        out.push(POSITIVE);
        out.extend(body);
    }
}

pub(super) fn decode(bytes: &mut &[u8]) -> Result<BigDecimal, DecodeError> {
    let mut next = || {
        let (&first, rest) = bytes.split_first().ok_or(DecodeError)?;
        *bytes = rest;
        Ok::<u8, DecodeError>(first)
    };
    let flip = match next()? {
        ZERO => return Ok(BigDecimal::from(0)),
        POSITIVE => 0x00,
        NEGATIVE => 0xff,
        _other => return Err(DecodeError),
    };
    let exponent = i64::from(u16::from_be_bytes([next()? ^ flip, next()? ^ flip])) - BIAS;
    let mut digits = Vec::new();
    loop {
        match next()? ^ flip {
            END => break,
            digit @ 1..=10 => digits.push(digit - 1),
            _other => return Err(DecodeError),
        }
    }
    let sign = if flip == 0 { Sign::Plus } else { Sign::Minus };
    let length = i64::try_from(digits.len()).map_err(|_| DecodeError)?;
    let number = BigInt::from_radix_be(sign, &digits, 10).ok_or(DecodeError)?;
    Ok(BigDecimal::new(number, length - exponent).normalized())
}
