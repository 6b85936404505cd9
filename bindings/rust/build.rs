//! Link the model that the environment variable `IRKIT_MODEL` names: the path of `libNAME.a` or
//! `libNAME.so`, as `irkit compile --output-kind=static` or `shared` writes it. Without it, a crate
//! that uses this one links its models itself.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo:rerun-if-env-changed=IRKIT_MODEL");
    let given = match env::var("IRKIT_MODEL") {
        Ok(given) if !given.is_empty() => given,
        _ => return,
    };
    let path = Path::new(&given).canonicalize().unwrap_or_else(|error| {
        panic!("IRKIT_MODEL is {given:?}, which cannot be read: {error}")
    });
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
    let kind = match path.extension().and_then(|end| end.to_str()) {
        Some("a") => "static",
        Some("so" | "dylib") => "dylib",
        _ => panic!("IRKIT_MODEL is {given:?}; expected a path like libmodel.a or libmodel.so"),
    };
    let name = stem.strip_prefix("lib").unwrap_or_else(|| {
        panic!("IRKIT_MODEL is {given:?}; the name of a library begins with lib")
    });
    let folder = path.parent().expect("a file is in a folder").display();
    println!("cargo:rerun-if-changed={}", path.display());
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib={kind}={name}");
    println!("cargo:rustc-link-lib=m");
    // What calls the model, such as the tests of this crate, is compiled only if there is one.
    println!("cargo:rustc-cfg=feature=\"linked\"");
    if kind == "dylib" {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
