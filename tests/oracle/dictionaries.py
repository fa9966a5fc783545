"""Dictionaries of classes for ROOT, made by rootcling and a C++ compiler."""

import os
import shutil
import subprocess
from pathlib import Path


def compiler_and_dictionary(folder, header, classes):
    """Makes a library with the dictionaries of these classes; None where the tools are missing."""
    import ROOT

    home = Path(ROOT.__file__).parent
    rootcling = shutil.which("rootcling") or str(home / "bin" / "rootcling")
    compiler = shutil.which("g++") or shutil.which("clang++")
    include = ROOT.gROOT.GetIncludeDir()
    if not Path(str(rootcling)).exists() or not compiler:
        return None
    Path(folder, "classes.h").write_text(header)
    links = "\n".join(f"#pragma link C++ class {name}+;" for name in classes)
    Path(folder, "LinkDef.h").write_text(f"#ifdef __CLING__\n{links}\n#endif\n")
    environment = os.environ | {"ROOTSYS": str(home), "LD_LIBRARY_PATH": str(home / "lib")}
    words = [rootcling, "-f", "dictionary.cxx", "classes.h", "LinkDef.h"]
    subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True)
    standard = "-std=c++" + str(ROOT.gROOT.ProcessLine("__cplusplus;") // 100 % 100)
    words = [compiler, "-w", "-shared", "-fPIC", standard, "-o", "classes.so", "dictionary.cxx", f"-I{include}", "-I."]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return Path(folder, "classes.so")
