import CRTCastProgram
import rtcast_cli

// All of the program is in rtcast-cli, so that tests can use it; this is linked, stripped, and compiled for each commit.
await Rtcast.start(commit: unsafe String(cString: rtcast_commit()))
