//! SOUNDEX and DIFFERENCE: the phonetic similarity of English words.

use selenite_types::Value;

use crate::SqlError;
use crate::functions::Arguments;

pub(super) fn soundex(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let code: String = code_of(call.text(0)?).iter().collect();
    Ok(call.text_result(&code))
}

/// DIFFERENCE: the number of equal characters in both codes, 0 to 4.
pub(super) fn difference(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (left, right) = (code_of(call.text(0)?), code_of(call.text(1)?));
    let agreeing = left.iter().zip(&right).filter(|(left, right)| left == right).count();
    Ok(Value::Int(i32::try_from(agreeing).unwrap_or(0)))
}

/// The first letter and three digits; equal adjacent digits count once, also with H or W between them; vowels separate.
fn code_of(text: &str) -> [char; 4] {
    let mut code = ['0'; 4];
    let mut letters = text
        .chars()
        .take_while(char::is_ascii_alphabetic)
        .map(|letter| letter.to_ascii_uppercase());
    let Some(first) = letters.next() else { return code };
    code[0] = first;
    let mut filled = 1;
    let mut last = digit_of(first);
    for letter in letters {
        if matches!(letter, 'H' | 'W') {
            continue;
        }
        let digit = digit_of(letter);
        if let Some(digit) = digit.filter(|digit| Some(*digit) != last) {
            let Some(place) = code.get_mut(filled) else { break };
            *place = digit;
            filled += 1;
        }
        last = digit;
    }
    code
}

fn digit_of(letter: char) -> Option<char> {
    match letter {
        'B' | 'F' | 'P' | 'V' => Some('1'),
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => Some('2'),
        'D' | 'T' => Some('3'),
        'L' => Some('4'),
        'M' | 'N' => Some('5'),
        'R' => Some('6'),
        _ => None,
    }
}
