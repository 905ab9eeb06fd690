//! Where a picture is taken from.

/// Where the camera stands, round the bodies and above them, and how closely it looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// How far round the bodies (degrees): 0 before them (at +z where y is up), 90 at their left (at +x), 180 behind them.
    pub turn: f64,
    /// How far above the horizon (degrees), from −90 to 90.
    pub rise: f64,
    /// How many times larger than when all bodies fill the picture.
    pub zoom: f64,
}

/// Zooms beyond this show nothing that can be told.
const ZOOM_LIMIT: f64 = 1000.0;

impl Default for View {
    fn default() -> View {
        View { turn: 28.0, rise: 15.0, zoom: 1.0 }
    }
}

impl View {
    /// A view by its name, `front`, `side`, `back` or `top`, or by how far round it is (degrees).
    pub fn named(name: &str) -> Result<View, String> {
        let defaults = View::default();
        match name {
            "front" => Ok(View { turn: 0.0, rise: 8.0, ..defaults }),
            "side" => Ok(View { turn: 90.0, rise: 8.0, ..defaults }),
            "back" => Ok(View { turn: 180.0, rise: 8.0, ..defaults }),
            "top" => Ok(View { turn: 0.0, rise: 89.0, ..defaults }),
            _ => match name.parse::<f64>() {
                Ok(turn) if turn.abs() <= 3600.0 => Ok(View { turn, ..defaults }),
                _ => Err("give front, side, back, top or an angle in degrees, such as 30".into()),
            },
        }
    }

    /// What is wrong with the numbers, if anything.
    pub fn fault(&self) -> Option<String> {
        if !self.turn.is_finite() {
            return Some(format!("the camera cannot turn by {} degrees", self.turn));
        }
        if !(-90.0..=90.0).contains(&self.rise) {
            return Some(format!("the camera cannot rise by {} degrees: -90 to 90 are accepted", self.rise));
        }
        if !(self.zoom > 0.0 && self.zoom <= ZOOM_LIMIT) {
            return Some(format!(
                "a zoom of {} is not above 0 and up to {ZOOM_LIMIT}: 1 shows all",
                self.zoom
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_have_names_or_angles() {
        assert_eq!(View::named("side").unwrap().turn, 90.0);
        assert_eq!(View::named("-37.5").unwrap().turn, -37.5);
        for wrong in ["", "left", "NaN", "inf", "1e9"] {
            assert!(View::named(wrong).is_err(), "{wrong}");
        }
        for zoom in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(View { zoom, ..View::default() }.fault().is_some());
        }
        assert_eq!(View::default().fault(), None);
    }
}
