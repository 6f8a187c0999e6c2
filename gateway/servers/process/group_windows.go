package process

import (
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object. The system ends its processes when the last handle to
// it is closed, also when we are killed, so Windows needs no guard process.
type group struct{ job windows.Handle }

// keepFiles has nothing to do: a process gets the handles that it is given.
func keepFiles() error { return nil }

// startGroup starts cmd, without a window, in a new job. It starts suspended,
// so that it has no child before it is in the job.
func startGroup(cmd *exec.Cmd) (group, error) {
	job, err := newJob()
	if err != nil {
		return group{}, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW,
	}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return group{}, err
	}
	if err := admit(job, cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return group{}, err
	}
	return group{job: job}, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("creating a job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("setting up a job object: %w", err)
	}
	return job, nil
}

// admit puts the suspended process into the job and lets it run.
func admit(job windows.Handle, pid int) error {
	const rights = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_SUSPEND_RESUME
	process, err := windows.OpenProcess(rights, false, uint32(pid))
	if err != nil {
		return fmt.Errorf("opening the process: %w", err)
	}
	defer windows.CloseHandle(process)
	if err := windows.AssignProcessToJobObject(job, process); err != nil {
		return fmt.Errorf("putting the process into its job: %w", err)
	}
	resume := windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")
	if status, _, _ := resume.Call(uintptr(process)); status != 0 {
		return fmt.Errorf("letting the process run: NTSTATUS %#x", status)
	}
	return nil
}

// alive reports whether the job has a process.
func (g group) alive() bool {
	var info struct {
		TotalUserTime, TotalKernelTime, ThisPeriodUserTime, ThisPeriodKernelTime   int64
		TotalPageFaults, TotalProcesses, ActiveProcesses, TotalTerminatedProcesses uint32
	}
	err := windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.ActiveProcesses > 0
}

// terminate does nothing: a process without a window has no TERM on Windows.
func (g group) terminate() {}

func (g group) kill() { _ = windows.TerminateJobObject(g.job, 1) }

func (g group) close() { _ = windows.CloseHandle(g.job) }

// terminateGroup does nothing, as terminate.
func terminateGroup(int) {}
