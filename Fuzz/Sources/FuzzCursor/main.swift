import CLibFuzzer
import FuzzBodies
import Glibc

var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
  LLVMFuzzerRunDriver(&count, &arguments) { start, count in
    fuzzCursor(Span(_unsafeStart: start!, count: count))
    return 0
  })
