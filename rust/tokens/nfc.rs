//! Canonical composition, which some vocabularies expect of their text.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A text in Unicode's form NFC; the text itself where it has it already, as nearly all texts do. O(n).
pub(super) fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}
