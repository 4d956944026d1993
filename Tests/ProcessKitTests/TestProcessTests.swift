import Glibc
import ProcessKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct TestProcessTests {
  @Test func `what a program prints and how it ends is known`() throws {
    let outcome = try TestProcess(
      ["/bin/sh", "-c", "echo out; echo err >&2; cat; exit 3"], errors: .withOutput
    ).outcome()
    #expect(outcome.status == 3 && outcome.text == "out\nerr\n")
    #expect(try TestProcess(["/bin/sh", "-c", "kill -9 $$"]).outcome().status == 128 + 9)
    #expect(try TestProcess.run(["printenv"], environment: ["PATH=/usr/bin", "A=b"]).text == "PATH=/usr/bin\nA=b\n")
    #expect(throws: TestProcess.Failure.self) { try TestProcess.run(["/no/such/program"]) }
  }

  @Test func `a program that says nothing and does not end is given up`() throws {
    let child = try TestProcess(["/bin/sh", "-c", "echo begun; trap '' TERM; sleep 1000"])
    #expect(child.says("begun"))
    #expect(!child.says("ready", within: .milliseconds(10)))
    #expect(throws: TestProcess.Failure.self) { try child.outcome(within: .milliseconds(10)) }
    #expect(try child.outcome().status == 128 + SIGKILL)
    child.end()
  }

  @Test func `a program goes with its object, and its own children with it`() throws {
    var child: TestProcess? = try TestProcess(["/bin/sh", "-c", "sleep 1000 & echo $$ $!; wait"])
    #expect(child?.says() == true)
    let ids = try #require(child?.output.split(separator: "\n").first).split(separator: " ")
    #expect(ids.count == 2)
    child = nil
    for id in ids { #expect(try TestProcess(["tail", "--pid=\(id)", "-f", "/dev/null"]).outcome().status == 0) }
  }

  @Test func `a program goes with the process that started it`() throws {
    #expect(try TestProcess.run(["setpriv", "--dump"]).text.contains("Parent death signal: KILL"))
  }
}
