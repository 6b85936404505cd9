// -----// IR Dump After ConvertAffineToStandard (lower-affine) //----- //
module {
  func.func @scale(%arg0: memref<8x16xf32>, %arg1: f32) {
    %cst = arith.constant 2.000000e+00 : f32
    %0 = arith.mulf %arg1, %cst : f32
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    scf.for %arg2 = %c0 to %c8 step %c1 {
      %c0_0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c1_1 = arith.constant 1 : index
      scf.for %arg3 = %c0_0 to %c16 step %c1_1 {
        %1 = memref.load %arg0[%arg2, %arg3] : memref<8x16xf32>
        %2 = arith.mulf %1, %0 : f32
        memref.store %2, %arg0[%arg2, %arg3] : memref<8x16xf32>
      }
    }
    return
  }
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
}


