//! Finds the names of a struct's fields as serde writes them, in the order of declaration.
//!
//! A derived `Deserialize` passes its field names to the deserializer before it asks for values: this deserializer stores them and fails.

use serde::de::value::Error;
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// The fields of a struct; none for any other type.
pub(crate) fn field_names<T: for<'de> Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // always ends in an error, once the names are known
    let _ = T::deserialize(FieldNames { names: &mut names });
    names
}

struct FieldNames<'a> {
    names: &'a mut &'static [&'static str],
}

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("there are no values"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.names = fields;
        Err(Error::custom("there are no values"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene_schema::BallTable;

    #[test]
    fn fields_come_in_their_order() {
        assert_eq!(field_names::<BallTable>(), ["center", "radius"]);
        assert!(field_names::<f64>().is_empty());
    }
}
