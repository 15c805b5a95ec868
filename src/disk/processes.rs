//! The processes of this machine, where the system lists them.

/// Returns the user's processes that were started with this environment variable, where the system
/// lists them (Linux).
pub fn processes_with(name: &str, value: &str) -> Vec<i32> {
    let wanted = format!("{name}={value}");
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter(|number| {
            let environment = std::fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes())
        })
        .collect()
}

/// A process of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessEntry {
    /// The number of the process.
    pub number: i32,
    /// The number of the process's parent.
    pub parent: i32,
}

/// Returns the processes of this machine, where the system lists them (Linux).
pub fn processes() -> Vec<ProcessEntry> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    numbers
        .filter_map(|number| {
            let status = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
            // The program's name stands in brackets and may hold brackets itself; the state is
            // behind the name.
            let parent = status.rsplit_once(')')?.1.split(' ').nth(2)?.parse().ok()?;
            Some(ProcessEntry { number, parent })
        })
        .collect()
}
