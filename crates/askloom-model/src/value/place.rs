//! Places on the earth, taken as a sphere of its mean radius: what WITHIN and IN BOX mean.

use super::Geo;

/// The mean radius of the earth in kilometres (IUGG).
const RADIUS_KM: f64 = 6_371.008_8;

// Here and not in what answers queries, since two ways to add the same numbers can differ in the last bit.
impl Geo {
    /// The great-circle distance, by the haversine formula.
    #[must_use]
    pub fn distance_km(self, other: Self) -> f64 {
        let (own, others) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half_latitude = ((others - own) / 2.0).sin();
        let half_longitude = ((other.longitude - self.longitude).to_radians() / 2.0).sin();
        let h = half_latitude * half_latitude + own.cos() * others.cos() * half_longitude * half_longitude;
        2.0 * RADIUS_KM * h.min(1.0).sqrt().asin()
    }

    /// Whether it lies in the box from its south-western to its north-eastern corner, edges included. A box whose
    /// west is east of its east spans the date line.
    #[must_use]
    pub fn in_box(self, south_west: Self, north_east: Self) -> bool {
        let (west, east) = (south_west.longitude, north_east.longitude);
        let between = if west <= east {
            (west..=east).contains(&self.longitude)
        } else {
            self.longitude >= west || self.longitude <= east
        };
        between && (south_west.latitude..=north_east.latitude).contains(&self.latitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude: f64, longitude: f64) -> Geo {
        Geo::new(latitude, longitude).unwrap()
    }

    #[test]
    fn a_quarter_of_the_equator() {
        let quarter = std::f64::consts::PI / 2.0 * RADIUS_KM;
        assert!((at(0.0, 0.0).distance_km(at(0.0, 90.0)) - quarter).abs() < 1e-6);
        assert!((at(0.0, 0.0).distance_km(at(90.0, 0.0)) - quarter).abs() < 1e-6);
        assert_eq!(at(12.5, -7.0).distance_km(at(12.5, -7.0)), 0.0);
    }

    #[test]
    fn antipodes_are_half_the_way_round() {
        let half = std::f64::consts::PI * RADIUS_KM;
        // The formula loses digits out there; a metre is as good as it gets.
        assert!((at(10.0, 20.0).distance_km(at(-10.0, -160.0)) - half).abs() < 1e-3);
    }

    #[test]
    fn a_box_can_span_the_date_line() {
        let (west, east) = (at(-20.0, 170.0), at(20.0, -170.0));
        assert!(at(0.0, 180.0).in_box(west, east));
        assert!(at(0.0, -175.0).in_box(west, east));
        assert!(!at(0.0, 0.0).in_box(west, east));
        assert!(at(0.0, 0.0).in_box(east_of(-170.0), at(20.0, 170.0)));
    }

    fn east_of(longitude: f64) -> Geo {
        at(-20.0, longitude)
    }
}
