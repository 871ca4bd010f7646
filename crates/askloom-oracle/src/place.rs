//! Places on the earth, taken as a sphere of its mean radius: what WITHIN and IN BOX mean.

use askloom_model::Geo;

/// The mean radius of the earth in kilometres (IUGG).
const RADIUS_KM: f64 = 6_371.008_8;

/// The great-circle distance, by the haversine formula.
pub(crate) fn distance_km(a: Geo, b: Geo) -> f64 {
    let (lat_a, lat_b) = (a.latitude.to_radians(), b.latitude.to_radians());
    let half_latitude = ((lat_b - lat_a) / 2.0).sin();
    let half_longitude = ((b.longitude - a.longitude).to_radians() / 2.0).sin();
    let h = half_latitude * half_latitude + lat_a.cos() * lat_b.cos() * half_longitude * half_longitude;
    2.0 * RADIUS_KM * h.min(1.0).sqrt().asin()
}

/// Whether a point lies in the box from its south-western to its north-eastern corner, edges included. A box
/// whose west is east of its east spans the date line.
pub(crate) fn in_box(point: Geo, south_west: Geo, north_east: Geo) -> bool {
    let (west, east) = (south_west.longitude, north_east.longitude);
    let between = if west <= east {
        (west..=east).contains(&point.longitude)
    } else {
        point.longitude >= west || point.longitude <= east
    };
    between && (south_west.latitude..=north_east.latitude).contains(&point.latitude)
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
        assert!((distance_km(at(0.0, 0.0), at(0.0, 90.0)) - quarter).abs() < 1e-6);
        assert!((distance_km(at(0.0, 0.0), at(90.0, 0.0)) - quarter).abs() < 1e-6);
        assert_eq!(distance_km(at(12.5, -7.0), at(12.5, -7.0)), 0.0);
    }

    #[test]
    fn antipodes_are_half_the_way_round() {
        let half = std::f64::consts::PI * RADIUS_KM;
        // The formula loses digits out there; a metre is as good as it gets.
        assert!((distance_km(at(10.0, 20.0), at(-10.0, -160.0)) - half).abs() < 1e-3);
    }

    #[test]
    fn a_box_can_span_the_date_line() {
        let (west, east) = (at(-20.0, 170.0), at(20.0, -170.0));
        assert!(in_box(at(0.0, 180.0), west, east));
        assert!(in_box(at(0.0, -175.0), west, east));
        assert!(!in_box(at(0.0, 0.0), west, east));
        assert!(in_box(at(0.0, 0.0), east_of(-170.0), at(20.0, 170.0)));
    }

    fn east_of(longitude: f64) -> Geo {
        at(-20.0, longitude)
    }
}
