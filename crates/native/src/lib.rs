//! What only an operating system has: mapped files and folders on disk.
