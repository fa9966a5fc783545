//! The implementations of `Value` and `Record` for a struct.

use crate::options::{self, FieldOptions};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Ident, LitStr, Result, Type};

/// A field that is written.
struct Field<'a> {
    ident: &'a Ident,
    ty: &'a Type,
    name: LitStr,
    options: FieldOptions,
}

pub(crate) fn record(input: &DeriveInput) -> Result<TokenStream> {
    let fields = fields(input)?;
    for parameter in &input.generics.params {
        if !matches!(parameter, GenericParam::Lifetime(p) if p.bounds.is_empty()) {
            let what = "a record takes no parameters but plain lifetimes, because its branches must be known";
            return Err(Error::new(parameter.span(), what));
        }
    }
    let this = &input.ident;
    let class = options::class(&input.attrs)?.unwrap_or_else(|| text_of(this));
    let (lifetimes, of_type, _) = input.generics.split_for_impl();
    let names: Vec<&LitStr> = fields.iter().map(|f| &f.name).collect();
    let idents: Vec<&Ident> = fields.iter().map(|f| f.ident).collect();
    // errors about types that do not implement `Value` point at the field
    let types: Vec<TokenStream> = fields.iter().map(Field::value).collect();
    let branches = fields.iter().map(Field::branch);
    Ok(quote! {
        const _: () = {
            use ::sapwood::write::{BranchSpec, CppType, Record, Value};
            use ::sapwood::Array;
            #[automatically_derived]
            impl #lifetimes Value for #this #of_type {
                fn cpp() -> CppType {
                    CppType::class(#class, ::std::vec![#((::std::string::String::from(#names), #types::cpp())),*])
                }
                fn column() -> Array {
                    Array::Record {
                        len: 0,
                        fields: ::std::vec![#((::std::string::String::from(#names), #types::column())),*],
                    }
                }
                fn append_to(&self, column: &mut Array) {
                    if let Array::Record { len, fields } = column {
                        let mut fields = fields.iter_mut();
                        #(if let ::core::option::Option::Some((_, column)) = fields.next() {
                            #types::append_to(&self.#idents, column);
                        })*
                        *len += 1;
                    }
                }
            }
            #[automatically_derived]
            impl #lifetimes Record for #this #of_type {
                fn branches() -> ::sapwood::Result<::std::vec::Vec<BranchSpec>> {
                    ::core::result::Result::Ok(::std::vec![#(#branches),*])
                }
                fn columns() -> ::std::vec::Vec<Array> {
                    ::std::vec![#(#types::column()),*]
                }
                fn fill(&self, columns: &mut [Array]) {
                    let mut columns = columns.iter_mut();
                    #(if let ::core::option::Option::Some(column) = columns.next() {
                        #types::append_to(&self.#idents, column);
                    })*
                }
            }
        };
    })
}

/// The fields that are written.
fn fields(input: &DeriveInput) -> Result<Vec<Field<'_>>> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new(input.ident.span(), "a record is a struct"));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(Error::new(input.ident.span(), "a record has named fields"));
    };
    let mut out = Vec::new();
    for field in &named.named {
        let options = FieldOptions::read(&field.attrs)?;
        if let (Some(ident), false) = (&field.ident, options.skip) {
            let name = options.name.clone().unwrap_or_else(|| text_of(ident));
            out.push(Field { ident, ty: &field.ty, name, options });
        }
    }
    if out.is_empty() {
        return Err(Error::new(input.ident.span(), "a record has at least one field"));
    }
    Ok(out)
}

/// A name as text, without `r#`.
fn text_of(ident: &Ident) -> LitStr {
    LitStr::new(&ident.unraw().to_string(), Span::call_site())
}

impl Field<'_> {
    /// The type, as a value.
    fn value(&self) -> TokenStream {
        let ty = self.ty;
        quote_spanned! { ty.span() => <#ty as Value> }
    }

    /// The expression that creates its branch.
    fn branch(&self) -> TokenStream {
        let (name, value, o) = (&self.name, self.value(), &self.options);
        let make = match o.vector {
            true => quote! { BranchSpec::object(#name, #value::cpp()) },
            false => quote! { #value::branch(#name) },
        };
        let title = o.title.iter();
        let compression = o.compression.iter();
        let (basket_bytes, split) = (o.basket_bytes.iter(), o.split.iter());
        let member_wise = o.member_wise.then(|| quote! { branch.member_wise = true; });
        let counter = o.counter.iter();
        quote! {{
            #[allow(unused_mut)]
            let mut branch = #make;
            #(branch.title = ::core::option::Option::Some(::std::string::String::from(#title));)*
            #(branch.compression = ::core::option::Option::Some(
                ::core::str::FromStr::from_str(#compression).map_err(|e: ::sapwood::Error| e.in_branch(#name))?
            );)*
            #(branch.basket_bytes = ::core::option::Option::Some(#basket_bytes);)*
            #(branch.split_level = #split;)*
            #member_wise
            #(branch = branch.counted_by(#counter)?;)*
            branch
        }}
    }
}
