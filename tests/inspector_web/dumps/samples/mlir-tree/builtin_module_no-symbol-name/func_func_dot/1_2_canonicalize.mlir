// -----// IR Dump After Canonicalizer (canonicalize) //----- //
func.func @dot(%arg0: memref<8xf32>, %arg1: memref<8xf32>) -> f32 {
  %cst = arith.constant 0.000000e+00 : f32
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %arg2 = %c0 to %c8 step %c1 iter_args(%arg3 = %cst) -> (f32) {
    %1 = memref.load %arg0[%arg2] : memref<8xf32>
    %2 = memref.load %arg1[%arg2] : memref<8xf32>
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %arg3, %3 : f32
    scf.yield %4 : f32
  }
  return %0 : f32
}

