//! A trace or a profile of any kind, opened and asked everything as the page does: conversion, and
//! every analysis of what came out of it.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_fuzz::ask_everything;

fuzz_target!(|bytes: &[u8]| ask_everything("fuzz.json", bytes));
