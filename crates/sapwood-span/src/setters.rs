/// Methods that set the public fields of an options struct, chained: `T::default().field(value)`. Those of the second
/// list take anything that converts into the field's type.
///
/// The structs are `#[non_exhaustive]`, so that a new option breaks no caller; these methods replace the struct
/// expression that other crates cannot write.
#[macro_export]
macro_rules! setters {
    ($name:ident { $($field:ident: $ty:ty),* $(,)? } into { $($other:ident: $into:ty),* $(,)? }) => {
        impl $name {
            $(
                #[doc = concat!("Sets [`", stringify!($field), "`](", stringify!($name), "#structfield.", stringify!($field), ").")]
                #[must_use]
                pub fn $field(mut self, $field: $ty) -> Self {
                    self.$field = $field;
                    self
                }
            )*
            $(
                #[doc = concat!("Sets [`", stringify!($other), "`](", stringify!($name), "#structfield.", stringify!($other), ").")]
                #[must_use]
                pub fn $other(mut self, $other: impl Into<$into>) -> Self {
                    self.$other = $other.into();
                    self
                }
            )*
        }
    };
}
