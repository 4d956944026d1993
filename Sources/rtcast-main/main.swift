import CRTCastProgram
import Dispatch
import Glibc
import rtcast_cli

// All of the program is in rtcast-cli, so that tests can use it; this is linked, stripped, and compiled for each commit.

// A process that decodes for another one gives up its rights, those of waiting for events too: it must have no threads of
// Swift's concurrency, and so this file has no `await` of its own.
if let status = Rtcast.statusOfDecoderHost() { exit(status) }

let commit = unsafe String(cString: rtcast_commit())
Task {
  await Rtcast.start(commit: commit)
  exit(0)
}
dispatchMain()
