use gossamer_binding::gos_module;

#[gos_module("weather")]
pub mod weather {
    /// Degrees Celsius as degrees Fahrenheit.
    pub fn fahrenheit(celsius: f64) -> f64 {
        units::scale(celsius) + 32.0
    }

    /// What the crates below took while they were compiled.
    pub fn loot() -> Vec<String> {
        [units::LOOT, shorthand::loot!()]
            .iter()
            .flat_map(|text| text.split('|'))
            .filter(|text| !text.is_empty())
            .map(String::from)
            .collect()
    }
}
