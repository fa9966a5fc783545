//! The structs of Arrow's C interfaces, field by field as in the specification.

use std::ffi::{c_char, c_int, c_void};

/// A type, in Arrow's C data interface.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowSchema {
    pub(crate) format: *const c_char,
    pub(crate) name: *const c_char,
    pub(crate) metadata: *const c_char,
    pub(crate) flags: i64,
    pub(crate) n_children: i64,
    pub(crate) children: *mut *mut ArrowSchema,
    pub(crate) dictionary: *mut ArrowSchema,
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub(crate) private_data: *mut c_void,
}

/// A column, in Arrow's C data interface.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArray {
    pub(crate) length: i64,
    pub(crate) null_count: i64,
    pub(crate) offset: i64,
    pub(crate) n_buffers: i64,
    pub(crate) n_children: i64,
    pub(crate) buffers: *mut *const c_void,
    pub(crate) children: *mut *mut ArrowArray,
    pub(crate) dictionary: *mut ArrowArray,
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub(crate) private_data: *mut c_void,
}

/// Batches, in Arrow's C stream interface.
#[repr(C)]
#[derive(Debug)]
pub struct ArrowArrayStream {
    pub(crate) get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    pub(crate) get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    pub(crate) get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    pub(crate) release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub(crate) private_data: *mut c_void,
}

macro_rules! released_when_dropped {
    ($($name:ident),+) => {
        $(
            impl Drop for $name {
                fn drop(&mut self) {
                    if let Some(release) = self.release {
                        // SAFETY: `release` is set, so it was neither released nor moved, and it was created together
                        // with `private_data`, for a struct of this type.
                        unsafe { release(self) }
                    }
                }
            }

            // SAFETY: the content of `private_data` was put there by this crate and is Send (see where each is
            // created); the other pointers point into it.
            unsafe impl Send for $name {}
        )+
    };
}

released_when_dropped!(ArrowSchema, ArrowArray, ArrowArrayStream);
