import CFuzzCost
import CLibFuzzer
import FuzzTargets
import Glibc

// `Fuzz TARGET [libFuzzer's arguments]` fuzzes one target; `Fuzz --list` prints their names and the maximum bytes of an
// input. RTCAST_FUZZ_COSTS names the file with the maximum costs; without it costs are shown and not checked.

/// Programs that libFuzzer starts, as for `-merge=1`, get its arguments alone; the environment has the target for them.
let variable = "RTCAST_FUZZ_TARGET"

func fail(_ message: String) -> Never {
  complain(message)
  exit(64)
}

var arguments = CommandLine.arguments
if arguments.count == 2, arguments[1] == "--list" {
  for target in FuzzTarget.all { print(target.name, target.longest) }
  exit(0)
}
if arguments.count > 1, !arguments[1].hasPrefix("-"), getenv(variable) == nil {
  setenv(variable, arguments.remove(at: 1), 1)
}
guard let name = getenv(variable).map({ String(cString: $0) }) else {
  fail("Usage: Fuzz TARGET [ARGUMENTS OF LIBFUZZER]")
}
guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
  fail("No target is called \(name). The targets: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
}

let costs = getenv("RTCAST_FUZZ_COSTS").map { String(cString: $0) }
let bound = costs.flatMap { CostBound(of: target.name, in: $0) }
if let costs, bound == nil { fail("\(costs) does not say what an input of \(target.name) may cost.") }
let meter = CostMeter(target, bound: bound)
atexit { meter.report() }

var count = Int32(arguments.count)
var pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = .allocate(capacity: arguments.count + 1)
for (index, argument) in arguments.enumerated() { pointers![index] = strdup(argument) }
pointers![arguments.count] = nil
exit(
  LLVMFuzzerRunDriver(&count, &pointers) { start, count in
    meter.run(UnsafeRawBufferPointer(start: start, count: count))
    return 0
  })
