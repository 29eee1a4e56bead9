//! Distributions for intervals and tests, forwarded from `statrs`, so that no installation needs scipy for them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, StudentsT};

fn bad(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Refuses what is not a probability between 0 and 1, both excluded.
fn probability(q: f64) -> PyResult<f64> {
    if q > 0.0 && q < 1.0 { Ok(q) } else { Err(bad(format!("{q} is not between 0 and 1"))) }
}

/// The value that Student's t falls below with probability `q`.
#[pyfunction]
pub fn student_t_quantile(q: f64, degrees: f64) -> PyResult<f64> {
    Ok(StudentsT::new(0.0, 1.0, degrees).map_err(bad)?.inverse_cdf(probability(q)?))
}

/// The probability that Student's t falls below `t`.
#[pyfunction]
pub fn student_t_cdf(t: f64, degrees: f64) -> PyResult<f64> {
    Ok(StudentsT::new(0.0, 1.0, degrees).map_err(bad)?.cdf(t))
}

/// The probability that F exceeds `x`.
#[pyfunction]
pub fn f_survival(x: f64, degrees_above: f64, degrees_below: f64) -> PyResult<f64> {
    Ok(FisherSnedecor::new(degrees_above, degrees_below).map_err(bad)?.sf(x))
}

/// The value that chi-square falls below with probability `q`.
#[pyfunction]
pub fn chi_square_quantile(q: f64, degrees: f64) -> PyResult<f64> {
    Ok(ChiSquared::new(degrees).map_err(bad)?.inverse_cdf(probability(q)?))
}
