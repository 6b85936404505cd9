func.func @scale(%x: memref<8x16xf32>, %f: f32) {
  affine.for %i = 0 to 8 {
    affine.for %j = 0 to 16 {
      %two = arith.constant 2.0 : f32
      %v = affine.load %x[%i, %j] : memref<8x16xf32>
      %g = arith.mulf %f, %two : f32
      %w = arith.mulf %v, %g : f32
      affine.store %w, %x[%i, %j] : memref<8x16xf32>
    }
  }
  return
}
func.func @dot(%x: memref<8xf32>, %y: memref<8xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %s = affine.for %i = 0 to 8 iter_args(%a = %zero) -> f32 {
    %v = affine.load %x[%i] : memref<8xf32>
    %w = affine.load %y[%i] : memref<8xf32>
    %p = arith.mulf %v, %w : f32
    %t = arith.addf %a, %p : f32
    affine.yield %t : f32
  }
  return %s : f32
}
