//! Matrices of a file as affine maps.

use sinew_character::Mat4;

/// Sixteen numbers, column after column, as an affine map. Fails if they are not finite, or not affine.
pub(super) fn affine_of(numbers: &[f64; 16], what: &str) -> Result<Mat4, String> {
    if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
        return Err(format!("{what} holds {number}: export the file again"));
    }
    let mut matrix = Mat4::from_column_slice(numbers);
    // exporters that invert in single precision leave round-off in the last row
    let last = [matrix[(3, 0)], matrix[(3, 1)], matrix[(3, 2)], matrix[(3, 3)] - 1.0];
    if last.iter().any(|x| x.abs() > 1e-4) {
        return Err(format!(
            "{what} has the last row {:?} where (0, 0, 0, 1) should be: export the file again",
            matrix.row(3).iter().collect::<Vec<_>>()
        ));
    }
    matrix.fixed_view_mut::<1, 4>(3, 0).copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
    Ok(matrix)
}
