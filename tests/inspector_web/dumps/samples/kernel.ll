define float @square(float %x) {
entry:
  %p = alloca float
  store float %x, ptr %p
  %a = load float, ptr %p
  %b = load float, ptr %p
  %r = fmul float %a, %b
  ret float %r
}

define void @scale(ptr noalias %x, i64 %n) {
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %body, label %done

body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %at = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %at
  %s = call float @square(float %v)
  store float %s, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %done

done:
  ret void
}
