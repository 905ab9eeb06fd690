//! The camera's position on a sphere around the bodies: azimuth, elevation and zoom.

/// Where the camera stands around the bodies and above them, and how closely it looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The angle around the bodies (degrees): 0 in front of them (at +z where y is up), 90 at their left (at +x), 180 behind them.
    pub azimuth: f64,
    /// The angle above the horizon (degrees), from −90 to 90.
    pub elevation: f64,
    /// The magnification; at 1 the bodies fill the picture.
    pub zoom: f64,
}

/// Larger zooms show less than a thousandth of the bodies, where nothing can be recognised.
const ZOOM_LIMIT: f64 = 1000.0;

impl Default for View {
    fn default() -> View {
        View { azimuth: 28.0, elevation: 15.0, zoom: 1.0 }
    }
}

impl View {
    /// Parses a view: `front`, `side`, `back`, `top`, or an azimuth in degrees.
    pub fn named(name: &str) -> Result<View, String> {
        let defaults = View::default();
        match name {
            "front" => Ok(View { azimuth: 0.0, elevation: 8.0, ..defaults }),
            "side" => Ok(View { azimuth: 90.0, elevation: 8.0, ..defaults }),
            "back" => Ok(View { azimuth: 180.0, elevation: 8.0, ..defaults }),
            "top" => Ok(View { azimuth: 0.0, elevation: 89.0, ..defaults }),
            _ => match name.parse::<f64>() {
                Ok(azimuth) if azimuth.abs() <= 3600.0 => Ok(View { azimuth, ..defaults }),
                _ => Err("give front, side, back, top or an angle in degrees, such as 30".into()),
            },
        }
    }

    /// The first number that is out of range, in words; `None` if all are valid.
    pub fn fault(&self) -> Option<String> {
        if !self.azimuth.is_finite() {
            return Some(format!("the camera cannot turn by {} degrees", self.azimuth));
        }
        if !(-90.0..=90.0).contains(&self.elevation) {
            return Some(format!(
                "the camera cannot rise by {} degrees: -90 to 90 are accepted",
                self.elevation
            ));
        }
        if !(self.zoom > 0.0 && self.zoom <= ZOOM_LIMIT) {
            return Some(format!(
                "a zoom of {} is out of range: give above 0 and up to {ZOOM_LIMIT}",
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
        assert_eq!(View::named("side").unwrap().azimuth, 90.0);
        assert_eq!(View::named("-37.5").unwrap().azimuth, -37.5);
        for wrong in ["", "left", "NaN", "inf", "1e9"] {
            assert!(View::named(wrong).is_err(), "{wrong}");
        }
        for zoom in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(View { zoom, ..View::default() }.fault().is_some());
        }
        assert_eq!(View::default().fault(), None);
    }
}
