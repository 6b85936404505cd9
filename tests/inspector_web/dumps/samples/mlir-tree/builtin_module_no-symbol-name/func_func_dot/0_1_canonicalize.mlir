// -----// IR Dump After Canonicalizer (canonicalize) //----- //
func.func @dot(%arg0: memref<8xf32>, %arg1: memref<8xf32>) -> f32 {
  %cst = arith.constant 0.000000e+00 : f32
  %0 = affine.for %arg2 = 0 to 8 iter_args(%arg3 = %cst) -> (f32) {
    %1 = affine.load %arg0[%arg2] : memref<8xf32>
    %2 = affine.load %arg1[%arg2] : memref<8xf32>
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %arg3, %3 : f32
    affine.yield %4 : f32
  }
  return %0 : f32
}

