! SPDX-License-Identifier: MIT OR Apache-2.0
! pascalops.f90: marks of regions for `parallax measure`, in Fortran. They mean what those of
! pascalops.h mean.
!
!     use pascalops
!     call pascal_start(1)
!     ...
!     call pascal_stop(1)
!
! Compile this file before those that use it, and pascalops_fortran.c with a C compiler; link both.
! `call pascal_start(1, __LINE__, __FILE__)` in a file that is preprocessed (.F90) keeps its place.
module pascalops
    use, intrinsic :: iso_c_binding, only: c_char, c_int, c_long, c_null_char
    use, intrinsic :: iso_fortran_env, only: int32, int64
    implicit none
    private
    public :: pascal_start, pascal_stop

    interface
        subroutine mark_start(id, line, file) bind(c, name='pascal_start_of_fortran_')
            import :: c_char, c_int, c_long
            integer(c_long), value :: id
            integer(c_int), value :: line
            character(kind=c_char), intent(in) :: file(*)
        end subroutine mark_start

        subroutine mark_stop(id, line) bind(c, name='pascal_stop_of_fortran_')
            import :: c_int, c_long
            integer(c_long), value :: id
            integer(c_int), value :: line
        end subroutine mark_stop
    end interface

    ! The number of a region may be of either kind.
    interface pascal_start
        module procedure start_32, start_64
    end interface pascal_start

    interface pascal_stop
        module procedure stop_32, stop_64
    end interface pascal_stop

contains

    subroutine start_32(id, line, file)
        integer(int32), intent(in) :: id
        integer, intent(in), optional :: line
        character(len=*), intent(in), optional :: file
        call start_64(int(id, int64), line, file)
    end subroutine start_32

    subroutine start_64(id, line, file)
        integer(int64), intent(in) :: id
        integer, intent(in), optional :: line
        character(len=*), intent(in), optional :: file
        integer(c_int) :: place
        place = 0
        if (present(line)) place = int(line, c_int)
        if (present(file)) then
            call mark_start(int(id, c_long), place, trim(file)//c_null_char)
        else
            call mark_start(int(id, c_long), place, c_null_char)
        end if
    end subroutine start_64

    subroutine stop_32(id, line, file)
        integer(int32), intent(in) :: id
        integer, intent(in), optional :: line
        character(len=*), intent(in), optional :: file
        call stop_64(int(id, int64), line, file)
    end subroutine stop_32

    ! The file is that of the start; here it makes the calls alike.
    subroutine stop_64(id, line, file)
        integer(int64), intent(in) :: id
        integer, intent(in), optional :: line
        character(len=*), intent(in), optional :: file
        integer(c_int) :: place
        place = 0
        if (present(line)) place = int(line, c_int)
        if (present(file)) continue
        call mark_stop(int(id, c_long), place)
    end subroutine stop_64
end module pascalops
