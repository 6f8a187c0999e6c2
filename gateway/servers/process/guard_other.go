//go:build unix && !linux && !darwin

package process

// startTime is not known here: a group is taken by its id alone.
func startTime(int) string { return "" }

func markedProcesses(string) []int { return nil }
