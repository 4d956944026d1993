import ArgumentParser

/// A command that runs confined.
protocol ConfinedCommand: ParsableCommand {
  var sandbox: SandboxOptions { get }
  /// Adds the command's needs of this machine, according to its options.
  func state(_ needs: inout SandboxNeeds)
}
